import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import { SondeError } from '@sonde/sdk'
import type { UserIdentity } from '@sonde/sdk/api'
import { processTimers, sondeCommand, type Timers } from '@sonde/sdk/internal'
import { Attempts } from './attempts.ts'
import { AuditLog } from './audit-log.ts'
import type { AccessConfig } from './config.ts'
import { ProxyLogin } from './proxy-login.ts'
import { type PageSession, Sessions } from './sessions.ts'
import { type KnownToken, Tokens } from './tokens.ts'

/** Parts of {@link Access}. */
export interface AccessParts {
  readonly config: AccessConfig
  /** Folder of tokens and audit log. */
  readonly folder: string
  /** Whether the server can be reached from this machine alone. */
  readonly isLoopback: boolean
  readonly onFault: (fault: SondeError) => void
  /** Default: the timers of the process. */
  readonly timers?: Timers
}

/** The identity behind a request, and the session if there is one. */
export interface KnownAsker {
  readonly identity: UserIdentity
  readonly session?: PageSession
  /** The next id of the session, for its cookie. */
  readonly nextId?: string
  /** Hash of the token of the request or of its session; absent where there is none. */
  readonly sha256?: string
}

/** Name of the cookie of a session. */
const COOKIE = 'sonde-session'
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']
const HOUR_MS = 3_600_000
const NAME_CHARACTERS_MAX = 128
/** How often a stream is looked at: its user may have lost the right to it. Unit: milliseconds. */
const WATCH_MS = 5000

/** Who may use a server: tokens, sessions of the page, and users that a proxy names. */
export class Access {
  readonly tokens: Tokens
  readonly audit: AuditLog
  /** Whether requests need a login, those of this machine left aside. */
  readonly needsLogin: boolean
  readonly #parts: AccessParts
  readonly #sessions: Sessions
  readonly #attempts = new Attempts()
  readonly #proxy: ProxyLogin | undefined
  readonly #timers: Timers

  constructor(parts: AccessParts) {
    const { config, folder, isLoopback, onFault } = parts
    this.#parts = parts
    this.#timers = parts.timers ?? processTimers
    this.tokens = new Tokens(folder, onFault)
    this.audit = new AuditLog(folder, onFault)
    this.needsLogin = config.required || !isLoopback || config.proxy.peers.length > 0
    this.#sessions = new Sessions(config.session_hours * HOUR_MS)
    this.#proxy = config.proxy.peers.length === 0 ? undefined : new ProxyLogin(config.proxy)
  }

  /**
   * Who sends a request; undefined if that is not known.
   *
   * @throws SondeError `ACC_TOKEN` if it has a token that does not count, `ACC_WAIT` after too many of these.
   */
  async askerOf(request: IncomingMessage): Promise<KnownAsker | undefined> {
    const peer = peerAddress(request)
    if (this.#proxy?.isPeer(peer)) {
      const identity = this.#proxy.identityOf(request)
      if (identity !== undefined) return { identity }
    }
    const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const certified = this.#byCertificate(request, peer)
    // A console shows its certificate and its token to every agent, and one of them need not be known there.
    const isToken = bearer !== undefined && (certified === undefined || (await this.tokens.find(bearer)) !== undefined)
    if (isToken) {
      const { name, role, sha256 } = await this.#byToken(bearer, peer, 'token')
      return { identity: { via: 'token', name, role }, sha256 }
    }
    const id = cookieOf(request)
    const used = id === undefined ? undefined : this.#sessions.use(id)
    if (used !== undefined) {
      const token = await this.tokens.findHash(used.session.sha256)
      if (token !== undefined) {
        const { name, role, sha256 } = token
        return { identity: { via: 'session', name, role }, sha256, ...used }
      }
    }
    if (certified !== undefined) return { identity: certified }
    return this.#isLocal(request) ? { identity: { via: 'local', name: 'local', role: 'admin' } } : undefined
  }

  /**
   * Exchanges a token for a session.
   *
   * @returns The id of the session, for its cookie.
   * @throws SondeError `ACC_TOKEN` if the token does not count, `ACC_WAIT` after too many of these.
   */
  async login(
    token: string,
    request: IncomingMessage,
  ): Promise<{ readonly id: string; readonly identity: UserIdentity }> {
    const peer = peerAddress(request)
    const found = await this.#byToken(token, peer, 'session')
    const identity: UserIdentity = { via: 'session', name: found.name, role: found.role }
    const before = cookieOf(request)
    if (before !== undefined) this.#sessions.end(before)
    await this.audit.note({
      timeMs: Date.now(),
      action: 'login',
      who: identity.name,
      via: 'session',
      from: peer,
      what: '',
    })
    return { id: this.#sessions.start(found).id, identity }
  }

  /** Ends the session of a request. */
  async logout(request: IncomingMessage, who: string): Promise<void> {
    const id = cookieOf(request)
    if (id === undefined) return
    this.#sessions.end(id)
    await this.audit.note({
      timeMs: Date.now(),
      action: 'logout',
      who,
      via: 'session',
      from: peerAddress(request),
      what: '',
    })
  }

  /**
   * Calls once when the token or the session of a stream has ended. Proxies, certificates and users of this machine
   * count as long as their connection lasts.
   *
   * @returns Stops the watch.
   */
  watch(asker: KnownAsker, onEnd: () => void): () => void {
    let isStopped = false
    let cancel: () => void = () => undefined
    const look = async (): Promise<void> => {
      const isKnown = await this.#isStillKnown(asker)
      if (isStopped) return
      if (isKnown) wait()
      else onEnd()
    }
    const wait = (): void => {
      cancel = this.#timers.after(WATCH_MS, () => void look())
    }
    wait()
    return () => {
      isStopped = true
      cancel()
    }
  }

  async #isStillKnown({ session, sha256 }: KnownAsker): Promise<boolean> {
    if (session !== undefined && !this.#sessions.isOpen(session)) return false
    return sha256 === undefined || (await this.tokens.findHash(sha256)) !== undefined
  }

  /** The cookie that a browser keeps; an empty id removes it. */
  cookieFor(id: string, request: IncomingMessage): string {
    const lifeS = id === '' ? 0 : this.#parts.config.session_hours * 3600
    return `${COOKIE}=${id}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${lifeS}${this.#isSecure(request) ? '; Secure' : ''}`
  }

  /** A token that counts is taken at any time: a neighbour of somebody who guesses need not wait. */
  async #byToken(text: string, peer: string, via: 'token' | 'session'): Promise<KnownToken> {
    const token = await this.tokens.find(text)
    if (token !== undefined) return token
    const waitMs = this.#attempts.waitMs(peer)
    if (waitMs > 0) {
      const retryAfterS = Math.ceil(waitMs / 1000)
      throw new SondeError('ACC_WAIT', `too many tokens from ${peer} were wrong; try again in ${retryAfterS} s`, {
        retryAfterS,
      })
    }
    this.#attempts.failed(peer)
    await this.audit.note({ timeMs: Date.now(), action: 'login.refused', who: '', via, from: peer, what: '' })
    throw unknownToken()
  }

  /** The certificate of a proxy is not that of its users. */
  #byCertificate({ socket }: IncomingMessage, peer: string): UserIdentity | undefined {
    const { client_ca_file: authority, client_role: role } = this.#parts.config.tls
    if (authority === undefined || !(socket instanceof TLSSocket) || !socket.authorized) return undefined
    if (this.#proxy?.isPeer(peer)) return undefined
    const name = [socket.getPeerCertificate().subject?.CN].flat()[0] ?? ''
    return { via: 'certificate', name: name.slice(0, NAME_CHARACTERS_MAX) || 'unnamed', role }
  }

  /**
   * A server on loopback trusts all users of this machine. Any other server trusts only connections from this machine
   * that no proxy has passed on.
   */
  #isLocal(request: IncomingMessage): boolean {
    if (!this.needsLogin) return true
    const { config } = this.#parts
    if (config.required || this.#proxy !== undefined) return false
    const { remoteAddress, localAddress } = request.socket
    return (
      isLoopback(remoteAddress) &&
      isLoopback(localAddress) &&
      FORWARDED.every((name) => request.headers[name] === undefined)
    )
  }

  #isSecure(request: IncomingMessage): boolean {
    if ('encrypted' in request.socket) return true
    return this.#proxy?.isPeer(peerAddress(request)) === true && request.headers['x-forwarded-proto'] === 'https'
  }
}

/** Address of the peer of a request. */
export function peerAddress({ socket }: IncomingMessage): string {
  return socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
}

function unknownToken(): SondeError {
  return new SondeError(
    'ACC_TOKEN',
    `the token is unknown or has expired; ${sondeCommand()} tokens list, on the server, has those that count`,
  )
}

function cookieOf({ headers }: IncomingMessage): string | undefined {
  const found = (headers.cookie ?? '').split(/; */).filter((each) => each.startsWith(`${COOKIE}=`))
  // Two of one name: another page of this host set one of them.
  return found.length === 1 ? found[0]?.slice(COOKIE.length + 1) : undefined
}

function isLoopback(address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:/, '') ?? ''
  return isIP(plain) !== 0 && (plain.startsWith('127.') || plain === '::1')
}
