import * as v from 'valibot'
import { list, pattern } from './kit.ts'

const HOST_ALLOWED = 'an IPv4 or IPv6 address, or a host name; 0.0.0.0 stands for all addresses of this machine'
/**
 * Host names: labels of letters, digits, `-` and `_`. The last label is no number, which would be a misspelt address.
 */
const HOST_NAME = /^(?=.{1,253}$)(?:(?!-)[\w-]{1,63}(?<!-)\.)*(?!\d+\.?$)(?!-)[\w-]{1,63}(?<!-)\.?$/
/** An address that is valid on one interface only. */
const LINK_LOCAL = /^fe80:[0-9A-Fa-f:]+%[\w.-]+$/

/** A host to listen on. Whether the name resolves to a local address is checked when listening starts. */
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

/** Further host names that requests to the server may carry. */
export function hostNames() {
  return list(
    pattern(/^(\*|(\*\.)?[A-Za-z0-9_.-]{1,253})$/, 'a name such as gpu17.example.com, *.example.com, or *'),
    64,
    'names',
  )
}
