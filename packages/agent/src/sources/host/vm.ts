import { filePart } from './file-part.ts'
import { parseVmstat } from './parse-memory.ts'
import { hostVmType } from './type.ts'

/** Work of the virtual memory. */
export const vm = filePart({ type: hostVmType, path: ['vmstat'], parse: parseVmstat })
