import { useState } from 'react'
import type { ApiError } from '../api/client.ts'
import { refreshAll, useNode } from '../api/resources.ts'
import { startSimulatedNode, useSimulator } from '../api/simulator.ts'
import { Icon } from './icon.tsx'
import { useFirstLook } from './use-first-look.ts'

/**
 * Offers the simulated node on a machine without such hardware. Empty if it cannot be started, or before sources have
 * searched for hardware.
 */
export function SimulatedOffer() {
  const { data: node } = useNode()
  const firstLook = useFirstLook()
  return node !== undefined && node.backend === undefined && firstLook === '' && <AgentOffer />
}

function AgentOffer() {
  const { data } = useSimulator()
  const [state, setState] = useState<'idle' | 'busy' | { readonly refusal: string }>('idle')
  if (data === undefined || (data.enabled && state === 'idle') || data.refusal !== '') return null
  const start = async (): Promise<void> => {
    setState('busy')
    try {
      await startSimulatedNode()
      refreshAll()
    } catch (error) {
      setState({ refusal: (error as ApiError).message })
    }
  }
  return (
    <section className="panel offer" aria-label="Simulated node">
      <Icon name="flask" />
      <p className="offer-words">
        <strong>This machine has no GPU and no NIC of a fabric.</strong> A simulated node of eight GPUs fills these
        pages. It is marked as simulated everywhere, and ends with Sonde.
        {typeof state === 'object' && <span className="offer-refusal"> {state.refusal}</span>}
      </p>
      <button type="button" className="button" disabled={state === 'busy'} onClick={() => void start()}>
        {state === 'busy' ? 'Starting …' : 'Show the simulated node'}
      </button>
    </section>
  )
}
