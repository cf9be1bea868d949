import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'
import type { UserIdentity, UserRole } from '@sonde/sdk/api'
import { ROLES, strongestOf } from './role.ts'

/** Settings of logins by an authenticating proxy; see `access.proxy` of the configuration. */
export interface ProxySettings {
  /** Addresses or networks of the proxies. */
  readonly peers: readonly string[]
  readonly user_header: string
  readonly groups_header: string
  readonly groups_separator: string
  /** Groups by role. */
  readonly viewers: readonly string[]
  readonly operators: readonly string[]
  readonly admins: readonly string[]
}

const GROUPS_OF: Readonly<Record<UserRole, 'viewers' | 'operators' | 'admins'>> = {
  viewer: 'viewers',
  operator: 'operators',
  admin: 'admins',
}
const NAME_CHARACTERS_MAX = 128

/** Logins that an authenticating proxy has made: it names the user and the groups in headers. */
export class ProxyLogin {
  readonly #settings: ProxySettings
  readonly #peers = new BlockList()

  constructor(settings: ProxySettings) {
    this.#settings = settings
    for (const peer of settings.peers) {
      const [address = '', bits] = peer.split('/')
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#peers.addAddress(address, family)
      else this.#peers.addSubnet(address, Number(bits), family)
    }
  }

  /** Whether a connection comes from a proxy that is listed. */
  isPeer(address: string | undefined): boolean {
    if (address === undefined) return false
    const plain = address.replace(/^::ffff:/, '')
    return this.#peers.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
  }

  /**
   * The user that a listed proxy names; undefined if it names none, or one without a role. A header that comes twice
   * counts as none: the first may be the user's own.
   */
  identityOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): UserIdentity | undefined {
    const { user_header: userHeader, groups_header: groupsHeader, groups_separator: separator } = this.#settings
    const user = onlyHeader(rawHeaders, userHeader)
    if (user === undefined || user === '') return undefined
    const groups = (onlyHeader(rawHeaders, groupsHeader) ?? '').split(separator).map((group) => group.trim())
    const roles = ROLES.filter((role) =>
      this.#settings[GROUPS_OF[role]].some((group) => group === '*' || groups.includes(group)),
    )
    const role = strongestOf(roles)
    return role && { via: 'proxy', name: user.slice(0, NAME_CHARACTERS_MAX), role }
  }
}

function onlyHeader(rawHeaders: readonly string[], name: string): string | undefined {
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === name.toLowerCase()) values.push(rawHeaders[at + 1] ?? '')
  return values.length === 1 ? values[0] : undefined
}
