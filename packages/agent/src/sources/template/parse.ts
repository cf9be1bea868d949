import type { Integer64 } from '@sonde/sdk/internal'
import { isNumber, KernelText } from '../kernel-text.ts'

/** Content of `/proc/sys/fs/file-nr`. */
export interface OpenFiles {
  readonly allocated: Integer64
  readonly limit: Integer64
}

/**
 * Parses `/proc/sys/fs/file-nr`: handles in use, a number that is always 0 since Linux 2.6, and the limit. `undefined`
 * if the content is malformed.
 */
export function parseFileNr(bytes: Uint8Array): OpenFiles | undefined {
  const text = new KernelText(bytes)
  const [allocated, unused, limit] = [text.u64(), text.u64(), text.u64()]
  if (!isNumber(allocated) || !isNumber(unused) || !isNumber(limit) || !text.lineDone()) return undefined
  return { allocated, limit }
}
