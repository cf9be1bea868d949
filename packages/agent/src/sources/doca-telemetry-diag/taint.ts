import { lookForDoca } from '../doca/options.ts'
import type { Probe, SourcePaths } from '../source.ts'
import type { DiagOptions } from './config.ts'

/** What the source does to the kernel. The firmware allows its configuration only in a scope of fwctl that debugs. */
export const TAINT = 'sampling diagnostic counters taints the kernel (debugging through fwctl) until the next boot'

const UNACCEPTED = `${TAINT}: set \`accept_taint: true\` in its entry, or ENABLE_DIAG=true, to accept that`

/** Finds the libraries without loading them. The source is denied until somebody accepts the taint. */
export function lookForDiag(options: object, paths: SourcePaths): Probe {
  const found = lookForDoca(options, paths)
  const isAccepted = (options as DiagOptions).accept_taint
  return found.state === 'present' && !isAccepted ? { state: 'denied', reason: UNACCEPTED } : found
}
