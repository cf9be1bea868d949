import * as v from 'valibot'
import { docaEntries } from '../doca/options.ts'

/** Options of the source of ports in `data_sources`. */
export const phyOptions = v.strictObject(docaEntries)

/** Options of the source of ports after validation. */
export type PhyOptions = v.InferOutput<typeof phyOptions>
