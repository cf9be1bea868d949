import { useStale } from '../api/stale.ts'
import { Icon, type IconName } from './icon.tsx'

/** A state of a thing; its icon and colour belong together. */
export type StateTone = 'ok' | 'warning' | 'critical' | 'info' | 'absent' | 'denied' | 'stale' | 'affected'

/** Icon and word of a state. Colour is never alone. */
export function StateMark({
  tone,
  word,
  iconOnly = false,
}: {
  readonly tone: StateTone
  readonly word: string
  readonly iconOnly?: boolean
}) {
  // An old `ok` is no trouble, but it says nothing about the present.
  const isPast = useStale() !== undefined && tone === 'ok'
  const icon: IconName = isPast ? 'stale' : tone
  return (
    <span className={`state is-${tone}`}>
      <Icon name={icon} />
      <span className={iconOnly ? 'visually-hidden' : undefined}>
        {word}
        {isPast && <span className="visually-hidden"> when last known</span>}
      </span>
    </span>
  )
}
