import * as v from 'valibot'
import { docaEntries } from '../doca/options.ts'

/** Options of the source of adaptive retransmission in `data_sources`. */
export const adpRetxOptions = v.strictObject(docaEntries)

/** What {@link adpRetxOptions} gives. */
export type AdpRetxOptions = v.InferOutput<typeof adpRetxOptions>
