import { INPUT } from './loops.ts'
import { testLoops } from './test-loops.ts'

testLoops(INPUT)
