/** A message of the kernel that names hardware. */
export interface KernelMessage {
  readonly kind: 'xid' | 'sxid' | 'mlx5' | 'aer' | 'ecc' | 'mce'
  /** What it says, in the number or the words of its driver; empty if it has none. */
  readonly code: string
  /** PCI address; empty if it names none. */
  readonly device: string
  /** The message without control characters. */
  readonly words: string
}

/** A line of `/dev/kmsg`. */
interface KernelLine {
  /** Number of the message; the next one has the next number. */
  readonly sequence: number
  /** Time since the start of the kernel. Unit: microseconds. */
  readonly timeUs: number
  /** From 0, an emergency, to 7. */
  readonly level: number
  readonly words: string
}

/** Words that are kept of a message. Unit: characters. */
const WORDS_LIMIT = 512
const WARNING = 4
const ADDRESS = '([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\\.[0-7])?)'

/** Messages by their form. The first form that fits counts. */
const FORMS: readonly (readonly [RegExp, (found: RegExpExecArray) => Omit<KernelMessage, 'words'>])[] = [
  [
    new RegExp(`^NVRM: Xid \\(PCI:${ADDRESS}\\): (\\d{1,5})`, 'i'),
    ([, device = '', code = '']) => ({ kind: 'xid', code, device: addressOf(device) }),
  ],
  [
    new RegExp(`\\bSXid \\(PCI:${ADDRESS}\\): (\\d{1,5})`, 'i'),
    ([, device = '', code = '']) => ({ kind: 'sxid', code, device: addressOf(device) }),
  ],
  [
    new RegExp(`\\b${ADDRESS}: PCIe Bus Error: severity=(Corrected|Uncorrect\\w*)( \\((?:Non-)?Fatal\\))?`, 'i'),
    ([, device = '', code = '', fatal = '']) => ({
      kind: 'aer',
      code: `${code.toLowerCase()}${/\(fatal/i.test(fatal) ? ' fatal' : ''}`,
      device: addressOf(device),
    }),
  ],
  [
    /^EDAC (?:\w+ )?MC\d{1,3}: \d+ (CE|UE)\b/,
    ([, code = '']) => ({ kind: 'ecc', code: code.toLowerCase(), device: '' }),
  ],
  [/^(?:mce: )?\[Hardware Error\]: (?:Machine check|CPU)/i, () => ({ kind: 'mce', code: '', device: '' })],
]
/** Every message of {@link FORMS}, and those of mlx5, have one of these words. */
const NAMES_HARDWARE = /xid|pcie bus error|edac|hardware error|mlx5_core/i
const MLX5 = new RegExp(`^mlx5_core ${ADDRESS}`, 'i')

/** Parses a line of `/dev/kmsg`: `level,sequence,time,flags;message`; undefined for lines of other forms. */
export function parseKernelLine(line: string): KernelLine | undefined {
  const found = /^(\d{1,5}),(\d{1,15}),(\d{1,16}),[^;]{0,64};/.exec(line)
  if (found === null) return undefined
  const [start, level, sequence, time] = found
  // The level has the facility in its upper bits.
  const numbers = { level: Number(level) & 7, sequence: Number(sequence), timeUs: Number(time) }
  // Most lines name no hardware. In a flood of them, only this search is affordable.
  return { ...numbers, words: NAMES_HARDWARE.test(line) ? plainWords(line.slice(start.length)) : '' }
}

/** The hardware that a message names; undefined if it names none. */
export function hardwareIn(line: Pick<KernelLine, 'words' | 'level'>): KernelMessage | undefined {
  const { words, level } = line
  for (const [form, make] of FORMS) {
    const found = form.exec(words)
    if (found !== null) return { ...make(found), words }
  }
  const [, device] = MLX5.exec(words) ?? []
  if (device === undefined) return undefined
  const isDown = /\blink down\b/i.test(words)
  if (!isDown && level > WARNING) return undefined
  const code = isDown ? 'link down' : level === WARNING ? 'warning' : 'error'
  return { kind: 'mlx5', code, device: addressOf(device), words }
}

/** The kernel writes bytes that are no text as `\x1b`, and anyone who may write into its log can write those. */
function plainWords(words: string): string {
  return words
    .slice(0, WORDS_LIMIT * 4)
    .replace(/\\x[0-9a-f]{2}/gi, ' ')
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, WORDS_LIMIT)
}

/** The NVIDIA driver leaves the function out, which is 0; some drivers write the domain with eight digits. */
function addressOf(address: string): string {
  const lower = address.toLowerCase().replace(/^0000(?=[0-9a-f]{4}:)/, '')
  return lower.includes('.') ? lower : `${lower}.0`
}
