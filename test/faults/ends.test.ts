import { ENDS } from './loops.ts'
import { testLoops } from './test-loops.ts'

testLoops(ENDS)
