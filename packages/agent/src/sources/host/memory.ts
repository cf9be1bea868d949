import { filePart } from './file-part.ts'
import { parseMeminfo } from './parse.ts'
import { hostMemoryType } from './type.ts'

/** Memory of the node. */
export const memory = filePart({ type: hostMemoryType, path: ['meminfo'], parse: parseMeminfo })
