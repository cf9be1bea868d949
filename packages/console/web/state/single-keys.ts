import { createValueStore, useStore } from './value-store.ts'

const STORAGE_KEY = 'sonde.single-keys'

function stored(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== 'off'
  } catch {
    // Storage is refused in some privacy modes; keys are then on.
    return true
  }
}

/** Whether keys without a modifier do anything; speech input and slips make some people turn them off. */
export const singleKeysStore = createValueStore(typeof localStorage === 'undefined' ? true : stored())

/** Reads {@link singleKeysStore} in a component. */
export function useSingleKeys(): boolean {
  return useStore(singleKeysStore)
}

/** Turns single keys on or off and remembers it. */
export function setSingleKeys(isOn: boolean): void {
  singleKeysStore.set(isOn)
  try {
    localStorage.setItem(STORAGE_KEY, isOn ? 'on' : 'off')
  } catch {
    // Storage is refused in some privacy modes; the choice then lasts as long as the page.
  }
}
