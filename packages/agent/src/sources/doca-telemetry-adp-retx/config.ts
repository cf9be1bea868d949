import * as v from 'valibot'
import { docaEntries } from '../doca/options.ts'

/** Options of the source of adaptive retransmission in `data_sources`. */
export const adpRetxOptions = v.strictObject(docaEntries)

/** Options of the source of adaptive retransmission after validation. */
export type AdpRetxOptions = v.InferOutput<typeof adpRetxOptions>
