import type { Integer64 } from '@sonde/sdk/internal'
import { Missing } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { isNumber, parseAttribute } from '../kernel-text.ts'

/** Reads a counter from a file of the kernel, or why there is none. */
export function counterIn(file: KernelFile): Integer64 | Missing {
  const bytes = file.read()
  if (bytes instanceof ReadFailure) return new Missing(bytes.code, bytes.words)
  const value = parseAttribute(bytes)
  if (isNumber(value)) return value
  const code = value === 'not_available' ? 'unsupported' : 'failed'
  return new Missing(code, `${file.path} holds no number`)
}
