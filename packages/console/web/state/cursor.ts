import { createValueStore, useStore } from './value-store.ts'

/** The time under the pointer or the keyboard cursor, shared by every chart on the page. */
export const hoverStore = createValueStore<number | null>(null)

/** Reads the shared cursor time; null without a cursor. `pinnedMs` is used while the pointer is elsewhere. */
export function useCursor(pinnedMs: number | undefined): number | null {
  return useStore(hoverStore) ?? pinnedMs ?? null
}
