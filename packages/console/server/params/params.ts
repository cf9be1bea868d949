import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { Param, ParamChange, ParamVersion } from '@sonde/sdk/api'
import { HIDDEN, shownUrl } from '@sonde/sdk/config'
import * as v from 'valibot'
import { checkOutboundUrl } from '../outbound/address-rule.ts'
import { StateFile } from '../state-file/state-file.ts'
import { faultsOfChanges, type ParamChanges, paramDefinition } from './check-changes.ts'
import { PARAMS } from './definitions.ts'

const FILE_BYTES_MAX = 1 << 20
/** Policy: the oldest version is forgotten. */
const VERSION_COUNT_MAX = 200
const FOLLOW_MS = 1000

const changeSchema = v.strictObject({ name: v.string(), before: v.string(), after: v.string() })
const versionSchema = v.strictObject({
  version: v.number(),
  timeMs: v.number(),
  who: v.string(),
  changes: v.array(changeSchema),
})
const fileSchema = v.strictObject({ values: v.record(v.string(), v.string()), versions: v.array(versionSchema) })
type ParamFile = v.InferOutput<typeof fileSchema>

/** Options of {@link Params}. */
export interface ParamsOptions {
  /** The data folder. */
  readonly folder: string
  /** Values that the configuration file sets, by name. They hold while the parameter is not set. */
  readonly managed: ReadonlyMap<string, string>
  /** Whether a URL may lead to loopback and private addresses. */
  readonly allowsPrivateUrls: boolean
  readonly onFault: (fault: SondeError) => void
}

/** Who changes parameters, and how. */
export interface ChangeOptions {
  readonly who: string
  /** Takes unknown names, and names that the configuration file sets. Default: no. */
  readonly isForced?: boolean
}

/**
 * Parameters: settings that people change while servers run. They are kept once, with every version, its author and
 * its time, in a file that the command and the servers share.
 */
export class Params {
  /** Called with each version that is made from now on, here or by another process. Secrets are hidden. */
  onVersion: (version: ParamVersion) => void = () => undefined
  readonly #options: ParamsOptions
  readonly #file: StateFile<ParamFile>
  readonly #managed: ReadonlyMap<string, string>
  #known: ParamFile = { values: {}, versions: [] }
  #isRead = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: ParamsOptions) {
    const { folder, managed, onFault } = options
    this.#options = options
    this.#managed = managed
    this.#file = new StateFile({
      path: join(folder, 'params.json'),
      empty: { values: {}, versions: [] },
      parse: (value) => v.parse(fileSchema, value),
      limitBytes: FILE_BYTES_MAX,
      onFault,
    })
  }

  /** Looks at the file once a second from now on. Resolves after the first look. */
  async follow(): Promise<void> {
    await this.refresh()
    this.#timer ??= setInterval(() => void this.refresh().catch(() => undefined), FOLLOW_MS)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Takes the present version of the file. */
  async refresh(): Promise<void> {
    const value = await this.#file.value()
    if (value === this.#known) return
    const before = this.version
    const isFirst = !this.#isRead
    this.#known = value
    this.#isRead = true
    if (isFirst) return
    for (const version of value.versions) if (version.version > before) this.onVersion(shownVersion(version))
  }

  /** Whether a parameter was set, by the command or on the page. */
  isSet(name: string): boolean {
    return ownValue(this.#known, name) !== undefined
  }

  /** Number of the present version; 0 before the first change. */
  get version(): number {
    return this.#known.versions.at(-1)?.version ?? 0
  }

  /** Why the file of parameters cannot be used; empty if it can. The last good values hold meanwhile. */
  get fault(): string {
    return this.#file.fault
  }

  /** The value of a parameter: as it was set, else as the configuration file says, else its default. */
  value(name: string): string {
    return ownValue(this.#known, name) ?? this.#managed.get(name) ?? paramDefinition(name)?.fallback ?? ''
  }

  /** All parameters, also unknown ones that were forced. Secrets are hidden. */
  list(): readonly Param[] {
    const unknown = Object.keys(this.#known.values).filter((name) => paramDefinition(name) === undefined)
    return [...PARAMS.map(({ name }) => name), ...unknown].map((name) => this.#paramOf(name))
  }

  /** All versions, the newest first. Secrets are hidden. */
  history(): readonly ParamVersion[] {
    return this.#known.versions.toReversed().map(shownVersion)
  }

  /**
   * Sets parameters, all or none. An empty value gives the default back. Returns the new version, without secrets; it
   * has no changes if nothing differs.
   *
   * @throws SondeError `PRM_VALUE` with every reason; `OUT_…` if a URL leads to an address that is not allowed;
   * `STA_…`.
   */
  async set(changes: ParamChanges, { who, isForced = false }: ChangeOptions): Promise<ParamVersion> {
    const rule = { allowsPrivate: this.#options.allowsPrivateUrls }
    for (const [name, value] of Object.entries(changes)) {
      const definition = paramDefinition(name)
      // Other faults are told with those of all changes.
      const isUrl = value !== '' && !value.includes(HIDDEN) && definition?.faultOf(value) === ''
      if (isUrl && definition?.isConnected === true) await checkOutboundUrl(value, rule)
    }
    return this.#update(who, (before) => {
      const managed = new Set([...this.#managed.keys()].filter((name) => ownValue(before, name) === undefined))
      const presentValue = (name: string) =>
        ownValue(before, name) ?? this.#managed.get(name) ?? paramDefinition(name)?.fallback ?? ''
      const faults = faultsOfChanges(changes, { isForced, managed, presentValue })
      if (faults.length > 0) throw new SondeError('PRM_VALUE', faults.join('; '))
      return changes
    })
  }

  /**
   * Takes the last change back, by another change.
   *
   * @throws SondeError `PRM_NOTHING` if there is none; `STA_…`.
   */
  async undo({ who }: Pick<ChangeOptions, 'who'>): Promise<ParamVersion> {
    return this.#update(who, ({ versions }) => {
      const last = versions.at(-1)
      if (last === undefined) throw new SondeError('PRM_NOTHING', 'no parameter was changed, so nothing can be undone')
      return Object.fromEntries(last.changes.map(({ name, before }) => [name, before]))
    })
  }

  async #update(who: string, wanted: (before: ParamFile) => ParamChanges): Promise<ParamVersion> {
    const timeMs = Date.now()
    let made: ParamVersion | undefined
    await this.#file.update((before) => {
      const changes = Object.entries(wanted(before)).flatMap(([name, after]): ParamChange[] => {
        const value = ownValue(before, name) ?? ''
        return value === after ? [] : [{ name, before: value, after }]
      })
      const version = (before.versions.at(-1)?.version ?? 0) + (changes.length > 0 ? 1 : 0)
      made = { version, timeMs, who, changes }
      if (changes.length === 0) return before
      const values = { ...before.values }
      for (const { name, after } of changes) {
        if (after === '') delete values[name]
        else values[name] = after
      }
      return { values, versions: [...before.versions, { ...made, changes }].slice(-VERSION_COUNT_MAX) }
    })
    await this.refresh()
    return shownVersion(made!)
  }

  #paramOf(name: string): Param {
    const definition = paramDefinition(name)
    const isSet = ownValue(this.#known, name) !== undefined
    const setBy = this.#known.versions.findLast(({ changes }) => changes.some((change) => change.name === name))
    return {
      name,
      value: shown(name, this.value(name)),
      origin: isSet ? 'set' : this.#managed.has(name) ? 'file' : 'default',
      fallback: definition?.fallback ?? '',
      allowed: definition?.allowed ?? '',
      purpose: definition?.purpose ?? 'Unknown to this version',
      effect: definition?.effect ?? 'none',
      ...(isSet && setBy !== undefined && { setMs: setBy.timeMs, setBy: setBy.who }),
    }
  }
}

function shownVersion(version: ParamVersion): ParamVersion {
  const changes = version.changes.map(({ name, before, after }) => {
    return { name, before: shown(name, before), after: shown(name, after) }
  })
  return { ...version, changes }
}

/** A value without secrets. */
function shown(name: string, value: string): string {
  return value !== '' && paramDefinition(name)?.isSecretUrl === true ? shownUrl(value) : value
}

/** The value that was set. Names such as `constructor` are not taken for it. */
function ownValue({ values }: ParamFile, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
