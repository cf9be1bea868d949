import { MONTHS } from './loops.ts'
import { testLoops } from './test-loops.ts'

testLoops(MONTHS)
