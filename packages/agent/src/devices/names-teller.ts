import type { RunningSource } from '../hosting/running-source.ts'
import type { Devices } from './devices.ts'

/** The parts of a source that this depends on. */
export type NameTaker = Pick<RunningSource, 'name' | 'definition' | 'stats' | 'command'>

/** Options of {@link NamesTeller}. */
export interface NamesOptions {
  readonly devices: Pick<Devices, 'version' | 'facts'>
  readonly sources: readonly NameTaker[]
  /** Whether a source takes these names. */
  readonly isTaker: (source: NameTaker) => boolean
  /** Key of the command. */
  readonly key: 'gpus' | 'pods'
  /** The names of now. */
  readonly listed: () => readonly object[]
}

/** Sends names that the list of devices has to the sources that resolve others by them. */
export class NamesTeller {
  readonly #options: NamesOptions
  /** The message that each source received last, with the restart count of its host. */
  readonly #sent = new Map<string, string>()
  #names: readonly object[] = []
  #version = -1

  constructor(options: NamesOptions) {
    this.#options = options
  }

  /** Sends changed names. */
  tell(): void {
    const { sources, devices, isTaker, key, listed } = this.#options
    const takers = sources.filter(isTaker)
    if (takers.length === 0) return
    const { version } = devices
    if (version !== this.#version) this.#names = listed()
    this.#version = version
    const names = this.#names
    for (const source of takers) {
      const message = `${source.stats.restarts} ${JSON.stringify(names)}`
      if (message === (this.#sent.get(source.name) ?? '0 []')) continue
      this.#sent.set(source.name, message)
      // A host that does not run receives the names after its start.
      source.command({ [key]: names }).catch(() => this.#sent.delete(source.name))
    }
  }
}
