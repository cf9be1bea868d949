import { Icon } from './icon.tsx'

/** Idle rows below a list, which a press shows or folds. */
export interface IdleFold<Row = unknown> {
  readonly rows: readonly Row[]
  /** `163 idle interfaces` */
  readonly words: string
  readonly isOpen: boolean
  readonly toggle: () => void
}

/** The button that shows the idle rows of a list, or folds them. */
export function IdleFoldButton({ fold: { words, isOpen, toggle } }: { readonly fold: IdleFold }) {
  return (
    <button type="button" className="idle-fold" aria-expanded={isOpen} onClick={toggle}>
      <Icon name={isOpen ? 'up' : 'chevron'} />
      {words}
    </button>
  )
}
