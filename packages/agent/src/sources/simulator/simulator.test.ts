import { testSource } from '../conformance.ts'
import { simulator } from './simulator.ts'

testSource(simulator, { options: { node_class: 'dpu-host' } })
