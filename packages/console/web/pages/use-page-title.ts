import { useEffect } from 'react'
import { useNode } from '../api/resources.ts'

/** Names the tab. Simulated data says so everywhere, also here. */
export function usePageTitle(title: string): void {
  const { data: node } = useNode()
  const isSimulated = node?.simulated ?? false
  const place = node?.node
  useEffect(() => {
    const parts = [title, place && place !== title ? place : undefined, 'Sonde'].filter(Boolean)
    document.title = `${parts.join(' · ')}${isSimulated ? ' (simulated)' : ''}`
  }, [title, place, isSimulated])
}
