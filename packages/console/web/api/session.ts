import type { UserIdentity } from '@sonde/sdk/api'
import { csrfWord, isLoggedOut } from '../state/session.ts'
import { createValueStore, useStore } from '../state/value-store.ts'
import { getAnswer, sendChange } from './client.ts'

const identity = createValueStore<UserIdentity | null>(null)

/** The user of the page; null before the server has named one. */
export function useIdentity(): UserIdentity | null {
  return useStore(identity)
}

/** Asks the server who uses the page. A server that does not answer is told elsewhere on the page. */
export async function loadSession(): Promise<void> {
  try {
    const session = await getAnswer('/api/v1/session')
    identity.set(session.identity)
    csrfWord.set(session.csrf)
    isLoggedOut.set(session.identity === null)
  } catch {
    // The next answer shows whether a login is needed.
  }
}

/** Exchanges a token for a session. Throws `ApiError`. */
export async function login(token: string): Promise<void> {
  await sendChange('POST', '/api/v1/login', { token })
  // Everything that was refused is asked again.
  location.reload()
}

/** Ends the session. Throws `ApiError`. */
export async function logout(): Promise<void> {
  await sendChange('POST', '/api/v1/logout')
  location.reload()
}
