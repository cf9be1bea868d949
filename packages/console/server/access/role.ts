import type { UserRole } from '@sonde/sdk/api'

/** Roles, the weakest first: `viewer` sees, `operator` changes, `admin` sees the log of changes, too. */
export const ROLES = ['viewer', 'operator', 'admin'] as const satisfies readonly UserRole[]

/** Whether a role may do what another may. */
export function mayAct(role: UserRole, needed: UserRole): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

/** The strongest of several roles; undefined if there is none. */
export function strongestOf(roles: readonly UserRole[]): UserRole | undefined {
  return roles.reduce<UserRole | undefined>(
    (best, role) => (best !== undefined && mayAct(best, role) ? best : role),
    undefined,
  )
}
