import { createValueStore } from './value-store.ts'

/** The word that each change of this session carries; empty without a session. */
export const csrfWord = createValueStore('')

/** Whether the server wants a login before it answers. */
export const isLoggedOut = createValueStore(false)
