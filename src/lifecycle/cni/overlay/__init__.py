"""What joins the hosts: subnet leases, a VXLAN overlay, plain routes – and what kind
does.
"""
