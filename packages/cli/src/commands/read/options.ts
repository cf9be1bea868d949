import { SondeError } from '@sonde/sdk'
import {
  bothSets,
  createFieldSet,
  FIELD_SET_BYTES_LIMIT,
  type FieldSet,
  type FieldSetKind,
  messageOf,
  readGivenFile,
} from '@sonde/sdk/internal'
import { ConfigError } from '../../config/config-error.ts'
import { systemReason } from '../../config/file.ts'
import type { Int64 } from './jsonl.ts'
import { parseTime } from './time.ts'

/** The options of `sonde read` as they were typed. */
export interface ReadFlags {
  readonly format?: string
  readonly int64?: string
  readonly source?: readonly string[]
  readonly tag?: readonly string[]
  readonly label?: readonly string[]
  readonly type?: readonly string[]
  readonly start?: string
  readonly end?: string
  readonly fset?: string
  readonly cset?: string
  readonly limit?: string
  readonly follow?: boolean
  readonly stats?: boolean
  readonly verify?: boolean
  readonly salvage?: boolean
  readonly schemaDir?: string
  readonly strict?: boolean
  /** Path of the store; true for the path that `sonde up` uses. */
  readonly store?: string | true
}

const FORMATS = ['jsonl', 'csv', 'table'] as const

/** The output format. */
export type FormatName = (typeof FORMATS)[number]

/** What is read, and how it is shown. */
export interface ReadOptions {
  readonly format: FormatName
  readonly int64: Int64
  /** Names, or prefixes that end in `*`. Empty: all. */
  readonly sources: readonly string[]
  readonly tags: readonly string[]
  /** Labels of sources as `name=value`, or prefixes that end in `*`. Empty: all. */
  readonly labels: readonly string[]
  readonly types: readonly string[]
  /** First selected nanosecond. */
  readonly startNs?: bigint
  /** End of the selected time, exclusive. Unit: nanoseconds. */
  readonly endNs?: bigint
  /** The fields that pass. */
  readonly fields?: FieldSet
  readonly limit: number
  readonly follow: boolean
  readonly task: 'print' | 'stats' | 'verify'
  readonly salvage: boolean
  /** Folder that is searched first for schema files. */
  readonly schemaDir?: string
  readonly strict: boolean
}

/**
 * @param isTerminal Whether the output goes to a terminal.
 * @throws ConfigError for a wrong value, and for options that exclude each other.
 */
export function readOptions(flags: ReadFlags, isTerminal: boolean): ReadOptions {
  const { follow = false, salvage = false, strict = false, stats = false, verify = false } = flags
  const nowMs = Date.now()
  const startNs = timeOf('--start', flags.start, nowMs)
  const endNs = timeOf('--end', flags.end, nowMs)
  const fields = fieldsOf(flags)
  const task = verify ? 'verify' : stats ? 'stats' : 'print'
  checkTogether(flags)
  return {
    format: oneOf('--format', flags.format ?? (isTerminal ? 'table' : 'jsonl'), FORMATS),
    int64: oneOf('--int64', flags.int64 ?? 'digits', ['digits', 'string'] as const),
    sources: flags.source ?? [],
    tags: flags.tag ?? [],
    labels: flags.label ?? [],
    types: flags.type ?? [],
    ...(startNs === undefined ? {} : { startNs }),
    ...(endNs === undefined ? {} : { endNs }),
    ...(fields === undefined ? {} : { fields }),
    limit: limitOf(flags.limit),
    follow,
    task,
    salvage,
    ...(flags.schemaDir === undefined ? {} : { schemaDir: flags.schemaDir }),
    strict,
  }
}

/** A file is verified as a whole, so these options exclude each other. */
function checkTogether(flags: ReadFlags): void {
  const { stats, verify, follow, type, start, end, fset, cset, limit } = flags
  if (flags.store !== undefined) {
    const { salvage, schemaDir, strict } = flags
    const [ofFiles] =
      Object.entries({ follow, verify, salvage, schemaDir, strict }).find(([, set]) => set !== undefined) ?? []
    if (ofFiles !== undefined)
      throw new ConfigError([`--${dashed(ofFiles)} is for files of records; it does not go with --store`])
  }
  if (follow === true && (stats === true || verify === true)) {
    throw new ConfigError([
      `--follow does not end, so that --${verify === true ? 'verify' : 'stats'} has nothing to sum up`,
    ])
  }
  if (flags.schemaDir !== undefined && flags.salvage !== true) {
    throw new ConfigError(['--schema-dir helps where a file is damaged; it goes with --salvage'])
  }
  if (verify !== true) return
  const [wrong] =
    Object.entries({ stats, type, start, end, fset, cset, limit }).find(([, set]) => set !== undefined) ?? []
  if (wrong !== undefined) throw new ConfigError([`--verify looks at whole files; --${wrong} does not go with it`])
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function timeOf(flag: string, text: string | undefined, nowMs: number): bigint | undefined {
  if (text === undefined) return undefined
  const ns = parseTime(text, nowMs)
  if (ns !== undefined) return ns
  throw new ConfigError([
    `${flag} is ${JSON.stringify(text)}; allowed: a time such as 2026-11-21T14:03:07.5Z, or a span back from now such as 10m`,
  ])
}

/** As everywhere: if both sets exist, the `.fset` decides on the types that it names, the `.cset` on the others. */
function fieldsOf({ cset, fset }: ReadFlags): FieldSet | undefined {
  const ofCset = fieldSetOf('cset', cset)
  const ofFset = fieldSetOf('fset', fset)
  return ofCset !== undefined && ofFset !== undefined ? bothSets(ofCset, ofFset) : (ofCset ?? ofFset)
}

function fieldSetOf(kind: FieldSetKind, path: string | undefined): FieldSet | undefined {
  if (path === undefined) return undefined
  try {
    const bytes = readGivenFile(path, FIELD_SET_BYTES_LIMIT)
    if (bytes === undefined) throw new Error(`it is larger than ${FIELD_SET_BYTES_LIMIT} bytes`)
    return createFieldSet(kind, bytes.toString(), path)
  } catch (error) {
    const isNamed = error instanceof SondeError
    throw new ConfigError([isNamed ? messageOf(error) : `--${kind} ${path} cannot be read: ${systemReason(error)}`])
  }
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new ConfigError([`--limit is ${JSON.stringify(text)}; allowed: a number of records`])
}

function oneOf<T extends string>(flag: string, given: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === given)
  if (found !== undefined) return found
  throw new ConfigError([`${flag} is ${JSON.stringify(given)}; allowed: ${allowed.join(', ')}`])
}
