import { fuzzFrames } from '../../../test/fuzz-frames.ts'
import { property } from '../../../test/helper.ts'

property('frames that are damaged anyhow are refused with a typed error: 50 000 streams', 50, (random) => {
  fuzzFrames(random, 1000)
})
