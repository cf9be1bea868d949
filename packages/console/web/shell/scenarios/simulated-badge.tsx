import { Icon } from '../../components/icon.tsx'

/** Says beside the place that its hardware is simulated; opens the control of its scenarios. */
export function SimulatedBadge({ onOpen }: { readonly onOpen: () => void }) {
  return (
    <button type="button" className="badge is-simulated" aria-haspopup="dialog" onClick={onOpen}>
      <Icon name="flask" />
      SIMULATED
      <span className="visually-hidden">, open the scenarios</span>
    </button>
  )
}
