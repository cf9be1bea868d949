import { useEffect, useState } from 'react'

/** How far outside the window something still counts as seen, so that it is ready when it is scrolled in. */
const MARGIN = '160px'

/**
 * Whether an element is in the window, or close to it. `isSeenFirst` is the value before that is known; default: true.
 */
export function useIsSeen(element: HTMLElement | null, isSeenFirst = true): boolean {
  const [isSeen, setSeen] = useState(isSeenFirst)
  useEffect(() => {
    if (!element) return
    const observer = new IntersectionObserver((entries) => setSeen(entries.at(-1)?.isIntersecting ?? true), {
      rootMargin: MARGIN,
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])
  return isSeen
}
