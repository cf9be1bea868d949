import * as v from 'valibot'
import { docaEntries } from '../doca/options.ts'

/** Options of the source of congestion-control algorithms in `data_sources`. */
export const pccOptions = v.strictObject(docaEntries)

/** Options of the source of congestion-control algorithms after validation. */
export type PccOptions = v.InferOutput<typeof pccOptions>
