import type { Dir } from 'node:fs'
import { opendir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { messageOf, SondeError, warnOfFault } from '../errors.ts'
import { FollowedFile } from '../internal/followed-file.ts'
import { readTextFile } from '../internal/text-file.ts'
import { bothSets, createFieldSet, type FieldSet } from './fieldset.ts'
import { FIELD_SET_BYTES_LIMIT, type FieldSetKind } from './parse.ts'

/** Options of {@link FieldSets}. */
export interface FieldSetsOptions {
  /** Folder of the `.cset` files. Default: that of the `.fset` files. */
  readonly csetDir?: string | undefined
  /** Folder of the `.fset` files. Default: that of the `.cset` files. */
  readonly fsetDir?: string | undefined
  /**
   * Called once for each invalid version of a file, with file, line and column, and for missing folders. Default: a
   * warning of the process.
   */
  readonly onFault?: (fault: SondeError) => void
}

/** A requested file. */
interface RequestedFile {
  readonly kind: FieldSetKind
  readonly name: string
  readonly file: FollowedFile<FieldSet>
}

const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/
const NAME_ALLOWED = 'letters, digits, _, - and ., at most 128 of them, and no . in front'
const VARIABLES = 'PROMETHEUS_CSET_DIR and PROMETHEUS_FSET_DIR'
const KINDS = ['cset', 'fset'] as const
/** Limit of entries read of a folder for a list of names, and limit of names in a list. */
const ENTRY_LIMIT = 1000
const LISTED_LIMIT = 50
/** Limit of cached files; further files are read at each request. */
const SEEN_LIMIT = 1000
/**
 * The field sets of folders, `NAME.cset` and `NAME.fset`. A file is checked at each request and read again if it
 * changed. If the new version is invalid, the last valid version stays in use.
 */
export class FieldSets {
  /** Number of invalid versions of files so far. */
  faults = 0
  readonly #dirs: Readonly<Record<FieldSetKind, string | undefined>>
  readonly #onFault: (fault: SondeError) => void
  readonly #seen = new Map<string, RequestedFile>()
  readonly #both = new WeakMap<FieldSet, WeakMap<FieldSet, FieldSet>>()

  constructor({ csetDir, fsetDir, onFault = warnOfFault }: FieldSetsOptions) {
    this.#dirs = { cset: csetDir ?? fsetDir, fset: fsetDir ?? csetDir }
    this.#onFault = onFault
  }

  /** Reports missing folders and invalid files. Called once, at the start. */
  async tellMissing(): Promise<void> {
    for (const fault of await this.missing()) this.#onFault(fault)
  }

  /** Whether a folder is configured. */
  get isOn(): boolean {
    return this.#dirs.cset !== undefined
  }

  /** Number of files that are invalid now. */
  get broken(): number {
    let broken = 0
    for (const { file } of this.#seen.values()) if (file.fault !== undefined) broken++
    return broken
  }

  /**
   * The set of a name: that of its `.cset`, of its `.fset`, or of both. Undefined if there is no file, or the name is
   * invalid.
   *
   * @throws SondeError `SET_SYNTAX`, `SET_LIMIT` or `SET_READ` if a file is invalid and has no valid earlier version.
   */
  async find(name: string, kind?: FieldSetKind): Promise<FieldSet | undefined> {
    if (!NAME.test(name)) return undefined
    await this.#lookAgain()
    if (kind !== undefined) return this.#look(kind, name)
    const [cset, fset] = [await this.#look('cset', name), await this.#look('fset', name)]
    return cset === undefined || fset === undefined ? (cset ?? fset) : this.#bothOf(cset, fset)
  }

  /** As {@link find}. @throws SondeError `SET_UNKNOWN` with the names of the existing sets. */
  async get(name: string, kind?: FieldSetKind): Promise<FieldSet> {
    const set = await this.find(name, kind)
    if (set !== undefined) return set
    const what = kind === undefined ? 'field set' : `.${kind}`
    throw new SondeError(
      'SET_UNKNOWN',
      `there is no ${what} ${JSON.stringify(name.slice(0, 100))}; ${await this.listed()}`,
    )
  }

  /** A sentence with the names of the first 50 sets and the missing folders. */
  async listed(): Promise<string> {
    if (!this.isOn) return `no folder of field sets is set: ${VARIABLES}, or cset_dir and fset_dir in the file`
    const names: string[] = []
    for (const kind of KINDS) names.push(...(await this.#entries(kind)).names.map((name) => `/${kind}/${name}`))
    const more = names.length > LISTED_LIMIT ? ` and ${names.length - LISTED_LIMIT} more` : ''
    const missing = (await this.missing()).map((fault) => `; ${fault.message}`).join('')
    const found = names.length === 0 ? 'there are none' : `there are: ${names.slice(0, LISTED_LIMIT).join(', ')}${more}`
    return found + missing
  }

  /** `SET_FOLDER` for each configured folder that is missing. A folder that appears later is used. */
  async missing(): Promise<readonly SondeError[]> {
    const folders = new Set(Object.values(this.#dirs).filter((dir) => dir !== undefined))
    const faults = await Promise.all([...folders].map(folderFault))
    return faults.filter((fault) => fault !== undefined)
  }

  /**
   * The number of files and all faults: missing folders, files with invalid names, and invalid files. Only the first
   * 1000 entries of each folder are read.
   */
  async check(): Promise<{ readonly files: number; readonly faults: readonly string[] }> {
    const faults = (await this.missing()).map(messageOf)
    let files = 0
    for (const kind of KINDS) {
      const { names, unnamable } = await this.#entries(kind)
      files += names.length
      for (const file of unnamable)
        faults.push(`${file} has a name that no request can contain; allowed: ${NAME_ALLOWED}`)
      for (const name of names) {
        await this.#look(kind, name).catch((error: unknown) => faults.push(messageOf(error)))
      }
    }
    return { files, faults }
  }

  /** Checks invalid files again, because these may have been fixed or removed without a request. */
  async #lookAgain(): Promise<void> {
    const broken = [...this.#seen.values()].filter(({ file }) => file.fault !== undefined)
    await Promise.allSettled(broken.map(({ kind, name }) => this.#look(kind, name)))
  }

  /** Names of the files of a kind, and paths of files with invalid names. */
  async #entries(kind: FieldSetKind): Promise<{ readonly names: string[]; readonly unnamable: string[] }> {
    const names: string[] = []
    const unnamable: string[] = []
    const dir = this.#dirs[kind] ?? ''
    try {
      let left = ENTRY_LIMIT
      for await (const { name } of await opendir(dir)) {
        const base = name.slice(0, -kind.length - 1)
        if (name.endsWith(`.${kind}`)) {
          if (NAME.test(base)) names.push(base)
          else unnamable.push(join(dir, name))
        }
        if (--left <= 0) break
      }
    } catch {
      // A missing or unreadable folder has no names; missing() reports it.
      return { names: [], unnamable: [] }
    }
    return { names: names.sort(), unnamable: unnamable.sort() }
  }

  async #look(kind: FieldSetKind, name: string): Promise<FieldSet | undefined> {
    const dir = this.#dirs[kind]
    if (dir === undefined) return undefined
    const path = join(dir, `${name}.${kind}`)
    const asked = this.#seen.get(path) ?? { kind, name, file: this.#follow(kind, dir, path) }
    if (this.#seen.size < SEEN_LIMIT) this.#seen.set(path, asked)
    const { file } = asked
    if (!(await file.look())) {
      this.#seen.delete(path)
      return undefined
    }
    if (file.value !== undefined) return file.value
    throw file.fault ?? new SondeError('SET_READ', `${path} cannot be read`)
  }

  #follow(kind: FieldSetKind, dir: string, path: string): FollowedFile<FieldSet> {
    const onFault = (fault: SondeError) => {
      this.faults++
      this.#onFault(fault)
    }
    const parse = (text: string) => createFieldSet(kind, text, path)
    return new FollowedFile({ path, read: () => fieldSetText(dir, path), parse, onFault, isNeeded: false })
  }

  /** One object for each pair of files, because caches use a filter as their key. */
  #bothOf(cset: FieldSet, fset: FieldSet): FieldSet {
    const pairs = this.#both.get(cset) ?? new WeakMap<FieldSet, FieldSet>()
    const both = pairs.get(fset) ?? bothSets(cset, fset)
    this.#both.set(cset, pairs.set(fset, both))
    return both
  }
}

/** Why a folder cannot be read; undefined if it can. */
async function folderFault(dir: string): Promise<SondeError | undefined> {
  let folder: Dir
  try {
    folder = await opendir(dir)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'is not there' : `cannot be read: ${messageOf(cause)}`
    return new SondeError('SET_FOLDER', `folder ${dir} of field sets ${why}; ${VARIABLES} name it`, { cause })
  }
  await folder.close()
  return undefined
}

/**
 * The text of a file of the folder. Links are followed only within the folder, where Kubernetes makes them for a
 * ConfigMap.
 */
async function fieldSetText(dir: string, file: string): Promise<string> {
  const [target, root] = await Promise.all([realpath(file), realpath(dir)]).catch((cause: unknown) => {
    throw readFault(file, `cannot be read: ${messageOf(cause)}`, cause)
  })
  if (!target.startsWith(root.endsWith(sep) ? root : `${root}${sep}`))
    throw readFault(file, `is a link that leads out of its folder, to ${target}`)
  return readTextFile({
    path: target,
    isLinkRefused: true,
    limitBytes: FIELD_SET_BYTES_LIMIT,
    fault: (kind, why, cause) =>
      kind === 'limit'
        ? new SondeError('SET_LIMIT', `${file} ${why}; split it into several sets`)
        : readFault(file, why, cause),
  })
}

function readFault(file: string, why: string, cause?: unknown): SondeError {
  return new SondeError('SET_READ', `${file} ${why}`, { cause })
}
