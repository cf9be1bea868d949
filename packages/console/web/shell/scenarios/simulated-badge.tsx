import { Icon } from '../../components/icon.tsx'

/** Marks the node as simulated and opens the sheet of scenarios. */
export function SimulatedBadge({ onOpen }: { readonly onOpen: () => void }) {
  return (
    <button type="button" className="badge is-simulated" aria-haspopup="dialog" onClick={onOpen}>
      <Icon name="flask" />
      SIMULATED
      <span className="visually-hidden">, open the scenarios</span>
    </button>
  )
}
