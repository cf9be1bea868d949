import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** Says that there is nothing, why, and what to do next. */
export function Empty({
  icon = 'absent',
  fact,
  children,
}: {
  readonly icon?: IconName
  readonly fact: string
  readonly children?: ReactNode
}) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <p>
        <strong>{fact}</strong> {children}
      </p>
    </div>
  )
}
