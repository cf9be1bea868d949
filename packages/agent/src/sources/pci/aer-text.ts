import type { Integer64 } from '@sonde/sdk/internal'
import { isNumber, KernelText } from '../kernel-text.ts'

/** What one of the files `aer_dev_*` holds. */
export interface AerCounts {
  /** Count by short name of the error. */
  readonly errors: ReadonlyMap<string, Integer64>
  /** Messages of this severity; not the sum of the errors, of which one message may tell several. */
  readonly total: Integer64 | undefined
  /** The first line that is no name and count, cut at 100 characters; such lines are left out. */
  readonly malformed: string | undefined
}

/**
 * Short names of today's kernels by the long ones of older kernels (4.19 is one), which the documentation of the kernel
 * still shows.
 */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['Receiver Error', 'RxErr'],
  ['Bad TLP', 'BadTLP'],
  ['Bad DLLP', 'BadDLLP'],
  ['RELAY_NUM Rollover', 'Rollover'],
  ['Replay Timer Timeout', 'Timeout'],
  ['Advisory Non-Fatal', 'NonFatalErr'],
  ['Corrected Internal Error', 'CorrIntErr'],
  ['Header Log Overflow', 'HeaderOF'],
  ['Data Link Protocol', 'DLP'],
  ['Surprise Down Error', 'SDES'],
  ['Poisoned TLP', 'TLP'],
  ['Flow Control Protocol', 'FCP'],
  ['Completion Timeout', 'CmpltTO'],
  ['Completer Abort', 'CmpltAbrt'],
  ['Unexpected Completion', 'UnxCmplt'],
  ['Receiver Overflow', 'RxOF'],
  ['Malformed TLP', 'MalfTLP'],
  ['Unsupported Request', 'UnsupReq'],
  ['ACS Violation', 'ACSViol'],
  ['Uncorrectable Internal Error', 'UncorrIntErr'],
  ['MC Blocked TLP', 'BlockedTLP'],
  ['AtomicOp Egress Blocked', 'AtomicOpBlocked'],
  ['TLP Prefix Blocked Error', 'TLPBlockedErr'],
  ['Poisoned TLP Egress Blocked', 'PoisonTLPBlocked'],
])

const TOTAL_PREFIX = 'TOTAL_ERR_'
/** Printable, and begins with no blank. */
const NAME = /^[!-~][ -~]{0,63}$/

/**
 * Reads `aer_dev_correctable`, `aer_dev_nonfatal` or `aer_dev_fatal`: lines of a name and a count, in either spelling.
 * The name ends at the last blank of the line, as long names have blanks of their own; one that nobody knows is kept as
 * it is.
 */
export function parseAer(bytes: Uint8Array): AerCounts {
  const text = new KernelText(bytes)
  const errors = new Map<string, Integer64>()
  let total: Integer64 | undefined
  let malformed: string | undefined
  for (; !text.done; text.nextLine()) {
    const start = text.at
    const blank = text.lastIndexOf(' ', text.lineEnd())
    const name = blank === -1 ? '' : text.textTo(blank).trimEnd()
    const count = text.u64()
    if (!NAME.test(name) || !isNumber(count) || !text.lineDone()) {
      const line = text.lineFrom(start)
      if (line !== '') malformed ??= line
    } else if (name.startsWith(TOTAL_PREFIX)) total = count
    else errors.set(SHORT_NAMES.get(name) ?? name, count)
  }
  return { errors, total, malformed }
}
