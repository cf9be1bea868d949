import { hostname, userInfo } from 'node:os'
import { AuditLog, isExpired, type KnownToken, Tokens } from '@sonde/console'
import { SondeError } from '@sonde/sdk'
import type { UserRole } from '@sonde/sdk/api'
import { printable, readTextFile, sondeCommand } from '@sonde/sdk/internal'
import type { Loaded } from '../config/load.ts'
import { accessDir } from './access.ts'

const UNITS_MS = { h: 3_600_000, d: 86_400_000 } as const
const DAYS_MAX = 3650
const FILE_BYTES_MAX = 4096

/** Options of {@link addToken}. */
export interface AddTokenOptions {
  readonly role: UserRole
  readonly expires: string
  /** File with a token of another server. */
  readonly from?: string
}

/** `sonde tokens add`: makes a token, and prints it once; or takes that of another server. */
export async function addToken(loaded: Loaded, name: string, { role, expires, from }: AddTokenOptions): Promise<void> {
  const { tokens, audit, who } = openTokens(loaded)
  const expiresMs = endOf(expires)
  const given = from === undefined ? undefined : await tokenIn(from)
  const token = await tokens.add({ name, role, addedBy: who, expiresMs, token: given })
  await audit.note({ ...entryBy(who), action: 'tokens.add', what: name, after: role })
  const until = expiresMs === null ? 'never expires' : `expires ${dayOf(expiresMs)}`
  const words = given === undefined ? 'it is shown only now' : `it is that of ${from}`
  console.error(printable(`sonde: the token ${name} (${role}, ${until}); ${words}`))
  if (given === undefined) console.log(token)
}

/** `sonde tokens list`: names, roles and ends of all tokens. */
export async function listTokens(loaded: Loaded): Promise<void> {
  const known = await openTokens(loaded).tokens.list()
  if (known.length === 0)
    console.error(`sonde: there are no tokens; ${sondeCommand()} tokens add NAME --role viewer makes one`)
  for (const each of known) console.log(printable(lineOf(each)))
}

/** `sonde tokens remove`: a token and its sessions end at once. */
export async function removeToken(loaded: Loaded, name: string): Promise<void> {
  const { tokens, audit, who } = openTokens(loaded)
  await tokens.remove(name)
  await audit.note({ ...entryBy(who), action: 'tokens.remove', what: name })
  console.error(`sonde: the token ${name} and its sessions have ended`)
}

async function tokenIn(path: string): Promise<string> {
  const fault = (_: string, why: string, cause?: unknown) => new SondeError('ACC_FROM', `${path} ${why}`, { cause })
  return (await readTextFile({ path, limitBytes: FILE_BYTES_MAX, fault })).trim()
}

function openTokens(loaded: Loaded) {
  const folder = accessDir(loaded)
  // Who cannot read the file must not take it for an empty one.
  const fail = (fault: SondeError) => {
    throw fault
  }
  const warn = (fault: SondeError) => console.error(`sonde: ${printable(fault.message)}`)
  return {
    tokens: new Tokens(folder, fail),
    audit: new AuditLog(folder, warn),
    who: `${userInfo().username}@${hostname()}`,
  }
}

function entryBy(who: string) {
  return { timeMs: Date.now(), who, via: 'command', from: '' }
}

function lineOf({ name, role, addedMs, addedBy, expiresMs }: KnownToken): string {
  const end =
    expiresMs === null ? 'never expires' : `${isExpired({ expiresMs }) ? 'EXPIRED' : 'expires'} ${dayOf(expiresMs)}`
  return `${name.padEnd(20)} ${role.padEnd(9)} ${end.padEnd(19)} added ${dayOf(addedMs)} by ${addedBy}`
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** @throws SondeError `ACC_EXPIRES` if it is no time from an hour to ten years. */
function endOf(text: string): number | null {
  if (text === 'never') return null
  const [, count = '', unit = ''] = /^(\d{1,6})([hd])$/.exec(text) ?? []
  const ms = Number(count) * (UNITS_MS[unit as keyof typeof UNITS_MS] ?? 0)
  if (ms === 0 || ms > DAYS_MAX * UNITS_MS.d)
    throw new SondeError(
      'ACC_EXPIRES',
      `--expires is ${JSON.stringify(text.slice(0, 40))}; allowed: 90d, 12h, or never; at most ${DAYS_MAX}d`,
    )
  return Date.now() + ms
}
