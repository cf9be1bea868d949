import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the double answers for one device. */
export interface DoubleDevice {
  readonly stats?: readonly (readonly [name: string, value: number | bigint])[]
  /** Name, version, firmware and address of the driver. */
  readonly driver?: readonly [string, string, string, string]
  readonly link?: 0 | 1
  readonly settings?: {
    readonly speedMbit: number
    readonly duplex: number
    readonly port: number
    readonly autonegotiation: number
    /** Supported, advertised, advertised by the other side; as many words each. */
    readonly masks: readonly (readonly number[])[]
  }
  /** Further lines of the script, such as `hang gstats`; see `ethtool.c`. */
  readonly faults?: readonly string[]
}

const SOURCE = fileURLToPath(new URL('ethtool.c', import.meta.url))
let built = ''

/** A library of a test's own that answers as network drivers do. Its answers may change at any time. */
export class EthtoolDouble {
  readonly #folder: string
  #library = ''

  /** When the test ends its script goes, and with it whatever hangs. */
  constructor(test: { after(end: () => void): void }) {
    this.#folder = mkdtempSync(join(tmpdir(), 'sonde-double-'))
    test.after(() => rmSync(this.#folder, { recursive: true, force: true }))
    this.play({})
  }

  /** Where the library is; compiled when it is asked for first, which needs `cc`. */
  get library(): string {
    if (this.#library === '') {
      this.#library = join(this.#folder, 'ethtool.so')
      copyFileSync(build(), this.#library)
    }
    return this.#library
  }

  /** What it answers from now on. `kernel: 'new'` refuses counts that do not fit, as Linux does since 6.19. */
  play(devices: Readonly<Record<string, DoubleDevice>>, options: { readonly kernel?: 'old' | 'new' } = {}): void {
    const lines = Object.entries(devices).flatMap(([name, device]) => [`device ${name}`, ...linesOf(device)])
    if (options.kernel === 'new') lines.unshift('kernel new')
    // Renamed into place: the library may read at this moment.
    const next = join(this.#folder, 'next')
    writeFileSync(next, `${lines.join('\n')}\n`)
    renameSync(next, join(this.#folder, 'script'))
  }
}

function linesOf({ stats = [], driver, link, settings, faults = [] }: DoubleDevice): string[] {
  const lines = stats.map(([name, value]) => `stat ${value} ${name}`)
  if (driver !== undefined) lines.push(`driver ${driver.map((word) => word || '-').join(' ')}`)
  if (link !== undefined) lines.push(`link ${link}`)
  if (settings !== undefined) {
    const { speedMbit, duplex, port, autonegotiation, masks } = settings
    const words = masks.flat().map((word) => word.toString(16))
    const wordCount = masks[0]?.length ?? 0
    lines.push(['settings', speedMbit, duplex, port, autonegotiation, wordCount, ...words].join(' '))
  }
  return [...lines, ...faults]
}

function build(): string {
  if (built === '') {
    const folder = mkdtempSync(join(tmpdir(), 'sonde-double-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    const library = join(folder, 'ethtool.so')
    execFileSync('cc', ['-Wall', '-Wextra', '-Werror', '-O1', '-shared', '-fPIC', '-o', library, SOURCE, '-ldl'])
    built = library
  }
  return built
}
