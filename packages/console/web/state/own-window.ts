import { useEffect } from 'react'
import { createValueStore, useStore } from './value-store.ts'

/** A window of a page, which the address does not hold. Unit: milliseconds since the epoch. */
export interface OwnWindow {
  readonly fromMs: number
  readonly toMs: number
}

const ownWindow = createValueStore<OwnWindow | undefined>(undefined)

/** The window that the page shows instead of that of the address, such as that of an incident; undefined if none. */
export function useOwnWindow(): OwnWindow | undefined {
  return useStore(ownWindow)
}

/** Declares a window of the page as long as the component lives. */
export function useShowsWindow(fromMs: number, toMs: number): void {
  useEffect(() => {
    ownWindow.set({ fromMs, toMs })
    return () => ownWindow.set(undefined)
  }, [fromMs, toMs])
}
