import { Icon, type IconName } from './icon.tsx'

/** A state of a thing; its icon and colour belong together. */
export type StateTone = 'ok' | 'warning' | 'critical' | 'info' | 'absent' | 'denied' | 'stale'

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
  return (
    <span className={`state is-${tone}`}>
      <Icon name={tone satisfies IconName} />
      <span className={iconOnly ? 'visually-hidden' : undefined}>{word}</span>
    </span>
  )
}
