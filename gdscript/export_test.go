package gdscript

var StartsName, IsInName = startsName, isInName
