import { type ReactNode, useEffect, useRef } from 'react'

/** A sheet above the page. The browser keeps the focus in it and gives it back; Escape or a press outside closes. */
export function Dialog({
  label,
  className,
  onClose,
  children,
}: {
  readonly label: string
  readonly className?: string
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      className={className ? `dialog ${className}` : 'dialog'}
      aria-label={label}
      onClose={onClose}
      closedby="any"
    >
      {children}
    </dialog>
  )
}
