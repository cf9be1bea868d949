/** Roles, the weakest first. Each may do what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const

/** `viewer` sees everything but the audit log, `operator` changes things, `admin` sees the audit log too. */
export type Role = (typeof ROLES)[number]

/** Whether a role may do what another may. */
export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

/** The strongest of several roles; undefined if there is none. */
export function strongestOf(roles: readonly Role[]): Role | undefined {
  return roles.reduce<Role | undefined>(
    (best, role) => (best !== undefined && mayAct(best, role) ? best : role),
    undefined,
  )
}

/** Who asks, and how that is known. */
export interface Identity {
  /** `local`: from this machine, without a login. */
  readonly via: 'local' | 'token' | 'session' | 'proxy'
  /** Name of the token or of the user. */
  readonly name: string
  readonly role: Role
}
