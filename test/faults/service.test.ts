import { SERVICE } from './loops.ts'
import { testLoops } from './test-loops.ts'

testLoops(SERVICE)
