/** The roles, the weakest first. Each has the rights of the roles before it. */
export type UserRole = 'viewer' | 'operator' | 'admin'

/** The sender of a request, and the proof of it. */
export interface UserIdentity {
  /** `local`: from this machine, without a login. `certificate`: by the certificate of the client. */
  readonly via: 'local' | 'token' | 'session' | 'proxy' | 'certificate'
  /** Name of the token, of the user, or in the certificate. */
  readonly name: string
  readonly role: UserRole
}

/** What `GET /api/v1/session` answers. */
export interface SessionAnswer {
  /** Whether this server asks others than this machine for a login. */
  readonly needsLogin: boolean
  /** Null before a login. */
  readonly identity: UserIdentity | null
  /** What the page sends as `x-sonde-csrf` with each change; empty without a session. */
  readonly csrf: string
}

/** Something that a person or program changed or tried. */
export interface AuditEntry {
  /** Unit: milliseconds since the Unix epoch. */
  readonly timeMs: number
  /** For example `login`, `params.set`. */
  readonly action: string
  /** Name of the token or user; empty if it is not known. */
  readonly who: string
  readonly via: string
  /** Address of the peer; empty for the command on this machine. */
  readonly from: string
  /** Name of the changed thing. */
  readonly what: string
  /** Values before and after, without secrets. */
  readonly before?: string
  readonly after?: string
}

/** What `GET /api/v1/audit` answers: the last changes, the newest first. */
export interface AuditAnswer {
  readonly entries: readonly AuditEntry[]
}
