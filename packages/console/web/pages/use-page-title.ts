import { useEffect } from 'react'
import { useNode } from '../api/resources.ts'

/** Sets the title of the tab, marked if the data is simulated. */
export function usePageTitle(title: string): void {
  const { data: node } = useNode()
  const isSimulated = node?.simulated ?? false
  const place = node?.node
  useEffect(() => {
    const parts = [title, place && place !== title ? place : undefined, 'Sonde'].filter(Boolean)
    document.title = `${parts.join(' · ')}${isSimulated ? ' (simulated)' : ''}`
  }, [title, place, isSimulated])
}
