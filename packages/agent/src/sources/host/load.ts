import { filePart } from './file-part.ts'
import { parseLoadavg } from './parse.ts'
import { hostLoadType } from './type.ts'

/** Load averages. */
export const load = filePart({ type: hostLoadType, path: ['loadavg'], parse: parseLoadavg })
