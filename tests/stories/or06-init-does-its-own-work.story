# A stage's work runs while the run is in it, skill by skill.
workflow engineering
INIT entry-portal says done
INIT requirements says done
INIT spec says done
INIT estimation says done
INIT triage says done
expect INIT iteration 5
INIT memory-manager says done
expect SCAFFOLD
expect phase INIT completed iterations 6
