import { lookup, resolveSrv } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { SondeError } from '@sonde/sdk'
import { FollowedFile, messageOf, readTextFile } from '@sonde/sdk/internal'
import { AGENT_COUNT_MAX, type AgentsConfig } from './config.ts'
import { type AgentPlace, agentsOfFile, placeAt } from './discovery-file.ts'

const FILE_BYTES_MAX = 4 << 20
/** Time between two lookups of the name. Unit: milliseconds. */
const RESOLVE_MS = 30_000

/** Finds the addresses and SRV records of a name. */
export interface AgentResolver {
  addresses(name: string): Promise<readonly string[]>
  services(name: string): Promise<readonly { readonly name: string; readonly port: number }[]>
}

const systemResolver: AgentResolver = {
  addresses: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  services: (name) => resolveSrv(name),
}

/** Options of {@link AgentPlaces}. */
export interface AgentPlacesOptions {
  readonly config: Pick<AgentsConfig, 'urls' | 'discovery_file' | 'dns_name' | 'scheme'>
  /** Told once of each fault. */
  readonly onFault: (fault: SondeError) => void
  /** Default: the resolver of the system. */
  readonly resolver?: AgentResolver
}

/** Where the agents of a console are: those of the configuration, then those of a file, then those of a name. */
export class AgentPlaces {
  readonly #options: AgentPlacesOptions
  readonly #file: FollowedFile<readonly AgentPlace[]> | undefined
  #ofName: readonly AgentPlace[] = []
  #nameFault = ''
  #resolvedMs = Number.NEGATIVE_INFINITY
  #clash = ''

  constructor(options: AgentPlacesOptions) {
    this.#options = options
    const { discovery_file: path, scheme } = options.config
    if (path === undefined) return
    const fault = (_: string, why: string, cause?: unknown) =>
      new SondeError('NOD_DISCOVERY', `${path} ${why}`, { cause })
    this.#file = new FollowedFile({
      ...{ path, isNeeded: true, onFault: options.onFault },
      read: () => readTextFile({ path, limitBytes: FILE_BYTES_MAX, fault }),
      parse: (text) => agentsOfFile(text, path, scheme),
    })
  }

  /** Why agents may be missing, as sentences. */
  get faults(): readonly string[] {
    return [this.#file?.fault?.message ?? '', this.#nameFault, this.#clash].filter((fault) => fault !== '')
  }

  /** The agents now. What cannot be read keeps the agents that it had before. */
  async list(): Promise<readonly AgentPlace[]> {
    await Promise.all([this.#file?.look(), this.#resolve()])
    const given = Object.entries(this.#options.config.urls).map(([name, url]) => ({ name, url: url.toLowerCase() }))
    const found = new Map<string, AgentPlace>()
    const urls = new Set<string>()
    const clashes: string[] = []
    for (const place of [...given, ...(this.#file?.value ?? []), ...this.#ofName]) {
      if (urls.has(place.url)) continue
      if (found.has(place.name)) clashes.push(place.name)
      else if (found.size < AGENT_COUNT_MAX) found.set(place.name, place)
      else clashes.push(place.name)
      urls.add(place.url)
    }
    const [first] = clashes
    this.#clash =
      first === undefined
        ? ''
        : `${clashes.length} agents are left out, ${first} first: the name is taken, or there are ${AGENT_COUNT_MAX}`
    return [...found.values()]
  }

  async #resolve(): Promise<void> {
    const { config, resolver = systemResolver, onFault } = this.#options
    const { dns_name: name, scheme } = config
    if (name === undefined || performance.now() - this.#resolvedMs < RESOLVE_MS) return
    this.#resolvedMs = performance.now()
    try {
      const targets = name.startsWith('_') ? await ofServices(resolver, name) : await ofAddresses(resolver, name)
      this.#ofName = targets.toSorted().map((target) => placeAt(scheme, target))
      this.#nameFault = ''
    } catch (cause) {
      const fault = new SondeError('NOD_DISCOVERY', `${name} has no agents: ${messageOf(cause)}`, { cause })
      if (fault.message !== this.#nameFault) onFault(fault)
      this.#nameFault = fault.message
    }
  }
}

async function ofServices(resolver: AgentResolver, name: string): Promise<string[]> {
  const records = await resolver.services(name)
  return records.map(({ name: host, port }) => `${host.replace(/\.$/, '').toLowerCase()}:${port}`)
}

async function ofAddresses(resolver: AgentResolver, name: string): Promise<string[]> {
  const [host = '', port = ''] = name.split(':')
  const addresses = await resolver.addresses(host)
  return addresses.map((address) => `${isIPv6(address) ? `[${address}]` : address}:${port}`)
}
