import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { SondeError } from '@sonde/sdk'
import { type AddressClass, addressClass } from './address-class.ts'

/** Finds the addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>

/** Which addresses may be connected to. */
export interface AddressRule {
  /**
   * Whether loopback and private addresses are allowed: for URLs in the file of the operator. Default: false.
   * Link-local, metadata, multicast and unspecified addresses are never allowed.
   */
  readonly allowsPrivate?: boolean
  /** Whether shared (100.64.0.0/10) and reserved addresses are allowed: clusters have some. Default: false. */
  readonly allowsShared?: boolean
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve
}

const WORDS: Readonly<Record<AddressClass, string>> = {
  public: 'a public address',
  loopback: 'an address of this machine',
  private: 'a private address',
  metadata: 'the metadata service of a cloud',
  unspecified: 'an unspecified address',
  link_local: 'a link-local address',
  shared: 'a shared address of a provider (100.64.0.0/10)',
  multicast: 'a multicast address',
  reserved: 'a reserved address',
}

const systemResolve: Resolve = (host) => lookup(host, { all: true })

/**
 * Parses a URL that somebody set, and refuses it if its scheme or its literal address is not allowed. A host name is
 * checked later, at the moment of the connection.
 *
 * @throws SondeError `OUT_URL` or `OUT_ADDRESS`. The message repeats no part of the URL but the host.
 */
export function parseOutboundUrl(text: string, rule: AddressRule = {}): URL {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw new SondeError('OUT_URL', 'the URL is invalid; allowed: http://HOST/PATH or https://HOST/PATH')
  const host = bareHost(url)
  if (isIP(host) !== 0) refuseAddress(host, host, rule)
  else if (/(^|\.)localhost\.?$/.test(host)) refuseAddress('127.0.0.1', host, rule)
  return url
}

/**
 * The same, and refuses a URL whose host name has an address that is not allowed now: for the moment at which somebody
 * sets it.
 *
 * @throws SondeError `OUT_URL`, `OUT_ADDRESS` or `OUT_LOOKUP`.
 */
export async function checkOutboundUrl(text: string, rule: AddressRule = {}): Promise<URL> {
  const url = parseOutboundUrl(text, rule)
  const host = bareHost(url)
  if (isIP(host) === 0) await allowedAddresses(host, rule)
  return url
}

/**
 * The lookup of a connection. The connection goes to the addresses that were checked here. A name that changes its
 * addresses after a check gains nothing.
 */
export function checkedLookup(rule: AddressRule): LookupFunction {
  return (host, { all }, callback) => {
    allowedAddresses(host, rule).then(
      (addresses) => {
        const [first] = addresses
        if (all === true) callback(null, [...addresses])
        else callback(null, first?.address ?? '', first?.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, all === true ? [] : ''),
    )
  }
}

/** The addresses of a name. If one of them is not allowed, none is. */
async function allowedAddresses(host: string, rule: AddressRule): Promise<readonly LookupAddress[]> {
  const addresses = await (rule.resolve ?? systemResolve)(host).catch((cause: unknown) => {
    throw new SondeError('OUT_LOOKUP', `no address is known for ${host}`, { cause })
  })
  if (addresses.length === 0) throw new SondeError('OUT_LOOKUP', `no address is known for ${host}`)
  for (const { address } of addresses) refuseAddress(address, host, rule)
  return addresses
}

function refuseAddress(
  address: string,
  host: string,
  { allowsPrivate = false, allowsShared = false }: AddressRule,
): void {
  const found = addressClass(address)
  if (found === 'public' || (allowsPrivate && (found === 'loopback' || found === 'private'))) return
  if (allowsShared && (found === 'shared' || found === 'reserved')) return
  const allowed = allowsPrivate ? 'public, private and loopback addresses' : 'public addresses'
  throw new SondeError('OUT_ADDRESS', `${host} is ${WORDS[found]}; allowed: ${allowed}`)
}

/** The host as sockets spell it: IPv6 without brackets. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}
