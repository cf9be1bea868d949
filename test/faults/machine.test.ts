import { MACHINE } from './loops.ts'
import { testLoops } from './test-loops.ts'

testLoops(MACHINE)
