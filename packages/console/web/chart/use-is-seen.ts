import { useEffect, useState } from 'react'

/** How far outside the window something still counts as seen, so that it is ready when it is scrolled in. */
const MARGIN = '160px'

/** Whether an element is in the window, or close to it. */
export function useIsSeen(element: HTMLElement | null): boolean {
  const [isSeen, setSeen] = useState(true)
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
