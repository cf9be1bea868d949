import * as v from 'valibot'
import { docaEntries } from '../doca/options.ts'

/** Options of the source of data-path accelerators in `data_sources`. */
export const dpaOptions = v.strictObject(docaEntries)

/** Options of the source of data-path accelerators after validation. */
export type DpaOptions = v.InferOutput<typeof dpaOptions>
