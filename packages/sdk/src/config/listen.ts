import * as v from 'valibot'
import { list, pattern } from './kit.ts'

const HOST_ALLOWED = 'an IPv4 or IPv6 address, or a host name; 0.0.0.0 stands for all addresses of this machine'
/** Labels of letters, digits, `-` and `_`, of which the last is no number: such a name would be a misspelt address. */
const HOST_NAME = /^(?=.{1,253}$)(?:(?!-)[\w-]{1,63}(?<!-)\.)*(?!\d+\.?$)(?!-)[\w-]{1,63}(?<!-)\.?$/
/** An address that holds on one interface only. */
const LINK_LOCAL = /^fe80:[0-9A-Fa-f:]+%[\w.-]+$/

/** Where one can listen. Whether the name is known, and whose the address is, is seen when listening. */
export function listenHost() {
  const allowed = HOST_ALLOWED
  return v.union(
    [
      v.pipe(v.string(), v.ipv4()),
      v.pipe(v.string(), v.ipv6()),
      pattern(HOST_NAME, allowed),
      pattern(LINK_LOCAL, allowed),
    ],
    allowed,
  )
}

/** Names by which a server may be asked, beside those that are its own. */
export function hostNames() {
  return list(
    pattern(/^(\*|(\*\.)?[A-Za-z0-9_.-]{1,253})$/, 'a name such as gpu17.example.com, *.example.com, or *'),
    64,
    'names',
  )
}
